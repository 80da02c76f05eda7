// A process that connects to a server once, for tests that do so as another user. Takes the connection parameters as JSON in
// its argument; fails with the error's message on stderr.
import { Client, type ClientConfig } from "pg";

const client = new Client(JSON.parse(process.argv[2] ?? "") as ClientConfig);
try {
  await client.connect();
  await client.end();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
