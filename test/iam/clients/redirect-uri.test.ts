// Which redirect URIs clients can have, and which a request may name.
import { expect, test } from "vitest";
import { findRedirectUriProblem, isRegisteredUri } from "../../../src/iam/clients/redirect-uri.ts";

test.each([
  ["https://app.example.com", true],
  ["https://app.example.com/a?b=c", true],
  ["http://127.0.0.1/callback", true],
  ["http://[::1]:8080/callback", true],
  ["com.example.app:/callback", true],
  ["http://localhost/callback", false],
  ["http://app.example.com/", false],
  ["https://app.example.com/#x", false],
  ["https://user@app.example.com/", false],
  ["https://@app.example.com/", false],
  ["https://*.example.com/", false],
  ["https://app.example.com/?code=1", false],
  ["https:/app.example.com", false],
  ["myapp:/callback", false],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["/callback", false],
  ["https://app.example.com\\@evil.example", false],
  ["https://app.example.com/ä", false],
  ["", false],
])("the redirect URI %s can be registered: %s", (uri, isAccepted) => {
  expect(findRedirectUriProblem(uri) === undefined).toBe(isAccepted);
});

test.each([
  ["http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", true],
  ["http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true],
  ["http://127.0.0.1:1/cb", "http://127.0.0.1/cb", false],
  ["http://[::1]/cb", "http://[::1]:8080/cb", true],
  ["http://127.0.0.1/cb", "http://127.0.0.1:8080/other", false],
  ["http://127.0.0.1/cb", "http://127.0.0.2:8080/cb", false],
  ["http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb", false],
  ["http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false],
  ["http://127.0.0.1/cb", "https://127.0.0.1:8080/cb", false],
  ["https://app.example.com/cb", "https://app.example.com:8443/cb", false],
])("%s is registered, so %s is accepted: %s", (registered, given, isAccepted) => {
  expect(isRegisteredUri([registered], given)).toBe(isAccepted);
});
