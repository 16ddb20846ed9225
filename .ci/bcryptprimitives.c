// Windows' source of random numbers, for a Wine that lacks it (before 9). `.ci/cross` puts it into Wine's own system
// folder; no user of Windows needs it.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T size) {
    return SystemFunction036(data, (ULONG)size);
}
