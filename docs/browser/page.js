// What all pages of /docs share: the search over operations and guides, and examples with the address of this service.

/** Where the service is, without a slash at its end: the pages are in `docs/` there. */
const service = new URL("..", location.href).href.slice(0, -1);

/** The address of a server on the reader's own machine, which the guides have. */
const exampleHost = "localhost:8080";

/** Returns a text with the address of this service. Over TLS, grpcurl needs no `-plaintext`. */
function withThisAddress(text, isLink) {
  const { host, port, protocol } = new URL(service);
  const [defaultPort, flag] = protocol === "https:" ? [443, "-plaintext "] : [80, ""];
  const plain = isLink ? service.replace(`${protocol}//`, "") : `${host}${port === "" ? `:${defaultPort}` : ""}`;
  return text.replaceAll(`http://${exampleHost}`, service).replaceAll(exampleHost, plain).replaceAll(flag, "");
}

for (const example of document.querySelectorAll("main :is(code, a)")) {
  if (!example.textContent.includes(exampleHost)) continue;
  example.textContent = withThisAddress(example.textContent, example.localName === "a");
}

const search = document.querySelector(".search");
const input = search.querySelector("input");
const status = search.querySelector("[role=status]");
const results = document.querySelector("#results");
const main = document.querySelector("main");
/** As many results of a kind as are shown. */
const most = 25;

/** Creates an element. Texts are only ever set as text. */
function create(name, attributes, ...children) {
  const created = Object.assign(document.createElement(name), attributes);
  created.append(...children);
  return created;
}

/** Reads what there is to find, when the search is first used. */
let entries;
async function readEntries() {
  const response = await fetch(search.dataset.entries);
  if (!response.ok) throw new Error(`the service answers ${response.status}`);
  const all = await response.json();
  return all.map((entry) => {
    const text = withThisAddress(entry.text, false);
    const lower = { title: entry.title.toLowerCase(), detail: entry.detail.toLowerCase(), text: text.toLowerCase() };
    return { ...entry, text, lower };
  });
}

/** Returns how well an entry matches: 0 if it lacks a word, and more for words in its title than for those in its text. */
function scoreOf({ lower }, words) {
  let score = 0;
  for (const word of words) {
    const own = (lower.title.includes(word) ? 4 : 0) + (lower.detail.includes(word) ? 2 : 0);
    const found = own + (lower.text.includes(word) ? 1 : 0);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

/** Returns the words of a text around the first of those that are searched. */
function excerptOf({ text, lower }, words) {
  const found = words.map((word) => lower.text.indexOf(word)).filter((at) => at !== -1);
  const first = found.length === 0 ? 0 : Math.min(...found);
  const start = first < 60 ? 0 : text.indexOf(" ", first - 60) + 1;
  const end = text.length < start + 180 ? text.length : text.lastIndexOf(" ", start + 180);
  return `${start === 0 ? "" : "... "}${text.slice(start, Math.max(end, first + 1))}${end === text.length ? "" : " ..."}`;
}

/** Returns a text with some words marked. */
function mark(text, words) {
  const literals = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  const pattern = new RegExp(`(${literals.join("|")})`, "i");
  return text.split(pattern).map((part, index) => (index % 2 === 1 ? create("mark", {}, part) : part));
}

function resultOf(entry, words) {
  const { kind, href, title, detail } = entry;
  const link = create("a", { href }, create("b", {}, ...mark(title, words)), " ");
  link.append(create(kind === "operation" ? "code" : "span", { className: "quiet" }, ...mark(detail, words)));
  const excerpt =
    kind === "passage" ? [create("p", { className: "quiet" }, ...mark(excerptOf(entry, words), words))] : [];
  return create("li", {}, link, ...excerpt);
}

function groupOf(heading, found, words) {
  if (found.length === 0) return [];
  const shown = found.slice(0, most).map((entry) => resultOf(entry, words));
  const rest = found.length - shown.length;
  const more =
    rest === 0 ? [] : [create("p", { className: "quiet" }, `${rest} more: another word narrows the search.`)];
  return [create("h2", {}, `${heading} (${found.length})`), create("ul", {}, ...shown), ...more];
}

const count = ({ length }, noun) => `${length} ${noun}${length === 1 ? "" : "s"}`;

/** Shows what has all words of the search, instead of the page. */
async function find() {
  const phrase = input.value;
  const words = phrase
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  main.hidden = words.length > 0;
  results.hidden = words.length === 0;
  status.textContent = "";
  if (words.length === 0) return;
  try {
    entries ??= readEntries();
    const found = (await entries)
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .map(({ entry }) => entry);
    // The reader may have typed on.
    if (input.value !== phrase) return;
    const [operations, passages] = ["operation", "passage"].map((kind) => found.filter((entry) => entry.kind === kind));
    status.textContent = `${count(operations, "operation")}, ${count(passages, "passage")} of guides`;
    const none = found.length === 0 ? [create("p", {}, "Nothing has all of these words.")] : [];
    results.replaceChildren(
      ...groupOf("Operations", operations, words),
      ...groupOf("Guides", passages, words),
      ...none,
    );
  } catch (error) {
    entries = undefined;
    results.replaceChildren(
      create("p", { className: "problem", role: "alert" }, `Nothing was found: ${error.message}.`),
    );
  }
}

function clear() {
  input.value = "";
  void find();
}

input.addEventListener("input", () => void find());
input.addEventListener("keydown", (event) => {
  if (event.key === "Escape") clear();
  if (event.key === "Enter") results.querySelector("a")?.click();
});
// The page that a result leads to may be this one.
results.addEventListener("click", (event) => {
  if (event.target.closest("a") !== null) clear();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select") !== null) return;
  event.preventDefault();
  input.focus();
});
// A browser keeps what was typed when it goes back to a page.
if (input.value !== "") void find();
