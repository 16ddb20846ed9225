// Replacement for Windows' source of random numbers, which Wine lacks before version 9. `.ci/cross` copies it into
// Wine's system folder. Windows itself does not need it.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T size) {
    return SystemFunction036(data, (ULONG)size);
}
