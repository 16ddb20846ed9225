// Says when the service worker has stored a new version of the page.

const TEXT = "A new version of the page is ready. It is used after all tabs of the page are closed.";

/** Calls `say` once when a new version waits for the tabs of this one to close. */
export async function watchVersion(say) {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.ready;
  let isSaid = false;
  const check = () => {
    if (isSaid || !registration.waiting || !navigator.serviceWorker.controller) return;
    isSaid = true;
    say(TEXT);
  };
  check();
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", check));
}
