// The script of the pages that the sign-in writes: it takes the one-time code of a link.

const code = document.querySelector("#code");
if (code !== null) {
  takeCode();
  // A link to a page that is shown already does not load it.
  addEventListener("hashchange", takeCode);
}

/** Takes the code of a link from its fragment, which is not sent to the server. It leaves the address bar and the history. */
function takeCode() {
  if (location.hash.length <= 1) return;
  code.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  if (code.form.dataset.send !== undefined) code.form.requestSubmit();
}
