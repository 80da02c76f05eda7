import { request } from "node:http";

interface SentRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends a request and reads its response as text. This takes half of the processor time of `fetch`, which streams bodies. */
export function sendRequest(url: string, { method, headers, body, signal }: SentRequest): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: Object.fromEntries(headers), ...(signal && { signal }) },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.once("error", reject);
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: toHeaders(response.headersDistinct), body: text }),
        );
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

function toHeaders(received: NodeJS.Dict<string[]>): Headers {
  const pairs = Object.entries(received).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Headers(pairs);
}
