// The script of the sign-in and the account pages. Each call of the API carries a token, which the cookie gets and which is kept
// in memory only.

/** Tokens by member. */
const tokens = new Map();

const code = document.querySelector("#code");
if (code !== null && location.hash.length > 1) {
  // The fragment of a link is not sent to the server. It leaves the address bar and the history.
  code.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
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
  const response = await fetch("/sign-in/token", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ member: path }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error_description);
  tokens.set(path, { text: body.access_token, until: Date.now() + (body.expires_in - 30) * 1000 });
  return body.access_token;
}

/** Calls the API as a member. */
async function call(path, method, target, body) {
  const options = { method, headers: { Authorization: `Bearer ${await getToken(path)}` } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(`/iam/v1alpha${target}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
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
  list("#keys", keys, (key) => [key.name, `${key.prefix}…`, describeTime("until", key.expire_time)]);
}

async function showSessions(path, isChosen) {
  const sessions = await read(path, isChosen, "#sessions", "sessions", "sessions");
  if (!isChosen()) return;
  list("#sessions", sessions, (session) => [
    session.client_display_name || (session.client_id === "browser" ? "Browser" : session.client_id),
    session.user_agent,
    describeTime("until", session.expire_time),
  ]);
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

function list(selector, resources, partsOf) {
  const items = resources.map((resource) => {
    const item = document.createElement("li");
    for (const part of partsOf(resource)) {
      const span = document.createElement("span");
      span.textContent = part;
      item.append(span);
    }
    const button = document.createElement("button");
    button.className = "quiet";
    button.textContent = selector === "#keys" ? "Delete" : "End";
    button.setAttribute("aria-label", `${button.textContent} ${partsOf(resource)[0]}`);
    button.addEventListener("click", () => void run((path, isChosen) => remove(path, isChosen, resource)));
    item.append(button);
    return item;
  });
  if (items.length === 0) {
    const none = document.createElement("li");
    none.textContent = "None";
    items.push(none);
  }
  document.querySelector(selector).replaceChildren(...items);
}

async function remove(path, isChosen, { path: target }) {
  await call(path, "DELETE", target);
  await show(path, isChosen);
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

function describeTime(word, time) {
  return time ? `${word} ${new Date(time).toLocaleString()}` : "does not expire";
}
