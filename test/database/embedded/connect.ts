// Connects to a server once, for tests that connect as another user. The argument is the connection parameters as JSON.
// Writes the message of an error to stderr.
import { Client, type ClientConfig } from "pg";

const client = new Client(JSON.parse(process.argv[2] ?? "") as ClientConfig);
try {
  await client.connect();
  await client.end();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
