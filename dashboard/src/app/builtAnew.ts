/** A page that was opened before the dashboard was built anew asks for parts that are gone: it is loaded again, once. */
const KEY = 'proctor.reloaded';
const PAUSE_MS = 30_000;

export function reloadWhenBuiltAnew(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(KEY) ?? 0);
    if (Date.now() - last < PAUSE_MS) return; // that was not the reason: the screen says what went wrong
    event.preventDefault();
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  });
}
