// The script of the sign-in and the account page. Each call of the API carries a token, which the cookie gets and which is kept
// in memory only.

let token;

const code = document.querySelector("#code");
if (code !== null && location.hash.length > 1) {
  // The fragment of a link is not sent to the server. It leaves the address bar and the history.
  code.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
}

const member = document.querySelector("#member");
if (member !== null) {
  member.addEventListener("change", () => void run(load));
  document.querySelector("#new-key").addEventListener("submit", (event) => {
    event.preventDefault();
    void run(createKey);
  });
  void run(load);
}

/** Shows why something failed. */
async function run(action) {
  const problem = document.querySelector("#problem");
  problem.hidden = true;
  try {
    await action();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

async function getToken() {
  if (token?.member === member.value && token.until > Date.now()) return token.text;
  const wanted = member.value;
  const response = await fetch("/sign-in/token", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ member: wanted }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error_description);
  token = { member: wanted, text: body.access_token, until: Date.now() + (body.expires_in - 30) * 1000 };
  return token.text;
}

async function call(method, path, body) {
  const options = { method, headers: { Authorization: `Bearer ${await getToken()}` } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(`/iam/v1alpha${path}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

async function load() {
  hideSecret();
  const path = member.value;
  const [keys, sessions] = await Promise.all([
    call("GET", `${path}/apiKeys?page_size=100`),
    call("GET", `${path}/sessions?page_size=100`),
  ]);
  show("#keys", keys.api_keys, (key) => [key.name, `${key.prefix}…`, describeTime("until", key.expire_time)]);
  show("#sessions", sessions.sessions, (session) => [
    session.client_id === "browser" ? "Browser" : session.client_id,
    session.user_agent,
    describeTime("until", session.expire_time),
  ]);
}

function show(selector, resources, partsOf) {
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
    button.addEventListener("click", () => void run(() => remove(resource)));
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

async function remove({ path }) {
  await call("DELETE", path);
  await load();
}

async function createKey() {
  const name = document.querySelector("#key-name");
  const key = await call("POST", `${member.value}/apiKeys`, { name: name.value });
  name.value = "";
  await load();
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
