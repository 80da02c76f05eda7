// The API reference. The server lists the operations; Swagger UI shows the one that is opened, from the part of the document that
// its section needs. Swagger UI takes longer to load than all else, so it is loaded when the first one is opened.
// https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/ documents its plugins.

/** Shows an operation without what the page has around it: the layout of each viewer. */
function createLayout({ React }) {
  const { createElement: h } = React;
  return function OneOperation({ specSelectors, getComponent }) {
    const Operation = getComponent("OperationContainer", true);
    const [section] = specSelectors.taggedOperations().entrySeq().toArray();
    if (section === undefined) return null;
    const [tag, content] = section;
    const operation = content.getIn(["operations", 0]);
    const { path, method, specPath } = operation.toObject();
    return h("div", { className: "swagger-ui" }, h(Operation, { specPath, op: operation, path, method, tag }));
  };
}

/** Folds the errors of an operation, which are the same for most, into a row each. */
function foldErrors(Response, { React }) {
  const { createElement: h, Fragment, useState } = React;
  return function FoldedResponse(props) {
    const { code, response } = props;
    const [isOpen, setOpen] = useState(false);
    if (/^[123]/.test(code)) return h(Response, props);
    const toggle = { type: "button", "aria-expanded": isOpen, onClick: () => setOpen(!isOpen) };
    const row = h(
      "tr",
      { className: "folded-response" },
      h("td", null, code),
      h("td", { colSpan: 2 }, h("button", toggle, response.get("description").replaceAll("`", ""))),
    );
    return h(Fragment, null, row, isOpen ? h(Response, props) : null);
  };
}

/** Replaces references by what they refer to. A schema that contains itself ends where it would begin again. */
function dereference(node, document, open = []) {
  if (Array.isArray(node)) return node.map((each) => dereference(each, document, open));
  if (node === null || typeof node !== "object") return node;
  const { $ref, ...others } = node;
  const rest = Object.entries(others).map(([key, value]) => [key, dereference(value, document, open)]);
  if (typeof $ref !== "string") return Object.fromEntries(rest);
  if (open.includes($ref)) return { description: `${$ref.split("/").at(-1)}, as above` };
  const keys = $ref.slice(2).split("/");
  const target = keys.reduce((at, key) => at[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
  // Swagger UI takes the name of a schema from the last member.
  return { ...dereference(target, document, [...open, $ref]), ...Object.fromEntries(rest), $$ref: $ref };
}

/** Replaces the resolver, which reads the whole document anew for each operation. */
function resolveQuickly(original, { specSelectors, specActions }) {
  return (path) => {
    const document = specSelectors.specJson().toJS();
    const node = path.reduce((at, key) => at?.[key], document);
    specActions.updateResolvedSubtree(path, dereference(node ?? {}, document));
  };
}

const plugin = (system) => ({
  statePlugins: {
    spec: { wrapActions: { requestResolvedSubtree: resolveQuickly } },
  },
  components: { OneOperation: createLayout(system), OperationSummary: () => null },
  wrapComponents: { response: foldErrors },
});

const reference = document.querySelector("#reference");
const key = document.querySelector("#key");
const sections = [...document.querySelectorAll(".section")];

/** Calls from the page carry the key, which is kept in its input field only. */
function addKey(request) {
  const text = key.value.trim();
  if (text !== "") request.headers.Authorization = `Bearer ${text}`;
  return request;
}

/** Adds an element that loads a file, and waits for the file. */
function load(name, attributes) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.addEventListener("load", resolve);
    element.addEventListener("error", () => {
      element.remove();
      reject(new Error(`${element.src ?? element.href} cannot be loaded`));
    });
    // Before the style of the pages, which changes that of Swagger UI.
    document.head.prepend(element);
  });
}

/** Returns a function that does something once, and again only after it has failed. */
function once(act) {
  let done;
  return () => {
    done ??= act().catch((error) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

const loadViewer = once(() => {
  const { script, style } = reference.dataset;
  return Promise.all([load("script", { src: script }), load("link", { rel: "stylesheet", href: style })]);
});

const documents = new Map(
  sections.map((section) => {
    const read = async () => {
      const response = await fetch(section.dataset.document);
      if (!response.ok) throw new Error(`the service answers ${response.status}`);
      return response.json();
    };
    return [section, once(read)];
  }),
);

/** Returns the document of one operation, whose calls go to the service that the page comes from. */
function documentOf(id, { paths, ...rest }) {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const { path, method, operation } = operations.find((each) => each.operation.operationId === id);
  const servers = [{ url: new URL("..", location.href).href.replace(/\/$/, "") }];
  return { ...rest, servers, paths: { [path]: { [method]: operation } } };
}

/** Shows an operation below its row, when it is first opened. */
async function show(operation) {
  if (operation.querySelector(".viewer") !== null) return;
  operation.querySelector(".problem")?.remove();
  const viewer = document.createElement("div");
  viewer.className = "viewer";
  viewer.textContent = "Loading ...";
  operation.append(viewer);
  try {
    const [whole] = await Promise.all([documents.get(operation.closest(".section"))(), loadViewer()]);
    viewer.textContent = "";
    SwaggerUIBundle({
      spec: documentOf(operation.id, whole),
      domNode: viewer,
      layout: "OneOperation",
      plugins: [plugin],
      docExpansion: "full",
      defaultModelRendering: "example",
      displayRequestDuration: true,
      requestInterceptor: addKey,
      // Nothing leaves this host.
      validatorUrl: null,
    });
  } catch (error) {
    viewer.className = "problem";
    viewer.textContent = `This operation cannot be shown: ${error.message}. Close and open it to try again.`;
  }
}

/**
 * Opens what the fragment of the URL names: an operation, `#listOrgs`, or a section, `#group-members`. Earlier versions had
 * `#/Group%20members/listGroupMembers`.
 */
function followFragment() {
  const name = location.hash.slice(1).split("/").at(-1).replaceAll("%20", "-");
  const named = document.getElementById(name) ?? document.getElementById(name.toLowerCase());
  if (named === null || named.localName !== "details") return;
  named.closest(".section").open = true;
  named.open = true;
  named.scrollIntoView();
}

// The event "toggle" does not bubble.
reference.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.open || !target.matches(".operation")) return;
    if (location.hash !== `#${target.id}`) history.replaceState(null, "", `#${target.id}`);
    void show(target);
  },
  { capture: true },
);
document.querySelector("#open-all").addEventListener("click", () => sections.forEach((each) => (each.open = true)));
document.querySelector("#close-all").addEventListener("click", () => sections.forEach((each) => (each.open = false)));
addEventListener("hashchange", followFragment);
followFragment();

/** Swagger UI has a dark theme but no setting that follows the one of the system. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();
