// The script of the sign-in and the account pages. Each call of the API carries a token, which the cookie gets and which is kept
// in memory only.

/** Tokens by member. */
const tokens = new Map();

/** The keys of the operator, one of which the first start writes to a file. */
const ofOperator = "/orgs/system/members/operator/";

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

const member = document.querySelector("#member");
if (member !== null) {
  member.addEventListener("change", () => void run(show));
  document.querySelector("#new-key")?.addEventListener("submit", (event) => {
    event.preventDefault();
    void run(createKey);
  });
  void run(show);
}

/** Does something for the chosen member. If another one is chosen meanwhile, neither its outcome nor its problem is shown. */
async function run(action) {
  const path = member.value;
  const isChosen = () => member.value === path;
  const problem = document.querySelector("#problem");
  problem.hidden = true;
  try {
    await action(path, isChosen);
  } catch (error) {
    if (!isChosen()) return;
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

async function getToken(path) {
  const known = tokens.get(path);
  if (known !== undefined && known.until > Date.now()) return known.text;
  const response = await fetch("/console/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ member: path }),
  });
  const body = await readAnswer(response).catch((error) => {
    // The sign-in has ended. The page goes on after the next one.
    if (error.code?.sign_in !== undefined) {
      location.assign(
        `${error.code.sign_in}?${new URLSearchParams({ return_to: location.pathname + location.search })}`,
      );
    }
    throw error;
  });
  tokens.set(path, { text: body.access_token, until: Date.parse(body.expire_time) - 30_000 });
  return body.access_token;
}

/** Calls the API as a member. */
async function call(path, method, target, body) {
  const options = { method, headers: { Authorization: `Bearer ${await getToken(path)}` } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  return readAnswer(await fetch(`/iam/v1alpha${target}`, options));
}

/** Returns the JSON of a response; an empty object for one without a body, such as that of a deletion. */
async function readAnswer(response) {
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") === true;
  const answer = isJson && text !== "" ? JSON.parse(text) : {};
  if (response.ok) return answer;
  // A proxy before the service answers in a form of its own.
  const message = answer.error_description ?? answer.error?.message ?? `the service answers ${response.status}`;
  throw Object.assign(new Error(message), { code: answer.error });
}

/** Shows what the page has about a member. */
async function show(path, isChosen) {
  if (document.querySelector("#new-key") !== null) {
    hideSecret();
    return;
  }
  if (path === "") {
    for (const selector of ["#keys", "#sessions"]) document.querySelector(selector).replaceChildren();
    return;
  }
  document.querySelector("#new-key-link").href = `/account/keys/new?${new URLSearchParams({ member: path })}`;
  // Who may not see one of them sees the other.
  const shown = await Promise.allSettled([showKeys(path, isChosen), showSessions(path, isChosen)]);
  const failed = shown.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function showKeys(path, isChosen) {
  const keys = await read(path, isChosen, "#keys", "apiKeys", "api_keys");
  if (!isChosen()) return;
  list("#keys", "Delete", keys, (key) => ({
    name: key.display_name,
    facts: [
      `${key.prefix}…`,
      key.scopes.join(" "),
      ["since", key.create_time],
      key.expire_time ? [isPast(key.expire_time) ? "expired" : "until", key.expire_time] : "does not expire",
      key.last_use_time ? ["last used", key.last_use_time] : "never used",
    ],
    question: `Delete the key ${key.display_name}?`,
    warning: key.path.startsWith(ofOperator)
      ? `${key.path} is a key of the operator of this installation, for whom every permission is granted. What uses it stops at once. On the machine of the service, "tenantry operator-key" makes another one.`
      : `What uses ${key.path} stops at once, and so does what was started with it: its tokens and sessions. It cannot be restored.`,
  }));
}

async function showSessions(path, isChosen) {
  const sessions = await read(path, isChosen, "#sessions", "sessions", "sessions");
  if (!isChosen()) return;
  const own = member.selectedOptions[0]?.dataset.session;
  list("#sessions", "End", sessions, (session) => {
    const name = session.client_display_name || (session.client_id === "browser" ? "Browser" : session.client_id);
    const isOwn = session.id === own;
    return {
      name,
      facts: [
        session.client_display_name ? session.scopes.join(" ") : session.user_agent,
        ["since", session.create_time],
        ["until", session.expire_time],
        isOwn ? "this browser" : "",
      ],
      question: `End the session of ${name}?`,
      warning: isOwn
        ? "It is that of this browser, which is then signed out as this member."
        : "Its tokens end at once. What uses it must sign in again, or be allowed again.",
      isOwn,
    };
  });
}

/** Reads all of what is in a list of the page, in which nothing of another member stays if that fails. */
async function read(path, isChosen, selector, collection, field) {
  const all = [];
  try {
    let token = "";
    do {
      const query = new URLSearchParams({ page_size: "1000", page_token: token });
      const answer = await call(path, "GET", `${path}/${collection}?${query}`);
      all.push(...answer[field]);
      token = answer.next_page_token;
    } while (token !== "" && isChosen());
    return all;
  } catch (error) {
    if (isChosen()) document.querySelector(selector).replaceChildren();
    throw error;
  }
}

/** Shows a list. Each resource has a name, facts, which are texts or words before a time, and what is asked before it is removed. */
function list(selector, verb, resources, describe) {
  const items = resources.map((resource) => {
    const { name, facts, ...removal } = describe(resource);
    const item = element(
      "li",
      element("span", element("bdi", name)),
      element("span", ...joined(facts.filter((fact) => fact !== ""))),
    );
    const button = element("button", verb);
    button.className = "quiet";
    button.setAttribute("aria-label", `${verb} ${name}`);
    button.addEventListener(
      "click",
      () => void run((path, isChosen) => remove(path, isChosen, { target: resource.path, verb, ...removal })),
    );
    item.append(button);
    return item;
  });
  document.querySelector(selector).replaceChildren(...(items.length === 0 ? [element("li", "None")] : items));
}

function element(name, ...children) {
  const created = document.createElement(name);
  created.append(...children);
  return created;
}

function joined(facts) {
  return facts.flatMap((fact, index) => {
    const parts = typeof fact === "string" ? [element("bdi", fact)] : [`${fact[0]} `, timeTag(fact[1])];
    return index === 0 ? parts : [", ", ...parts];
  });
}

/** A time in the form of the pages that the service writes. */
function timeTag(time) {
  const tag = element("time", `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`);
  tag.dateTime = time;
  return tag;
}

const isPast = (time) => new Date(time).getTime() <= Date.now();

async function remove(path, isChosen, { target, verb, question, warning, isOwn }) {
  if (!(await confirm({ verb, question, warning }))) return;
  await call(path, "DELETE", target);
  // The service says where a browser goes that is no longer signed in as a member.
  if (isOwn) location.reload();
  else await show(path, isChosen);
}

/** Asks before something is removed. Resolves to whether the person wants it. */
function confirm({ verb, question, warning }) {
  const dialog = document.querySelector("#confirm");
  dialog.querySelector("h2").textContent = question;
  dialog.querySelector("p").textContent = warning;
  dialog.querySelector(".danger").textContent = verb;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

async function createKey(path, isChosen) {
  hideSecret();
  if (path === "") throw new Error("Choose a member first");
  const name = document.querySelector("#key-name");
  const key = await call(path, "POST", `${path}/apiKeys`, { name: name.value });
  if (!isChosen()) return;
  name.value = "";
  const secret = document.querySelector("#secret");
  secret.querySelector("code").textContent = key.secret;
  secret.hidden = false;
}

function hideSecret() {
  const secret = document.querySelector("#secret");
  secret.hidden = true;
  secret.querySelector("code").textContent = "";
}
