import { type DescMessage, type DescMethod, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, type ClientReadableStream, Metadata, credentials } from "@grpc/grpc-js";

type Method<I extends DescMessage, O extends DescMessage> = DescMethod & { readonly input: I; readonly output: O };

export function openGrpc(port: number): Client & Disposable {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

/** Rejects with the error of grpc-js, which has the status in `code`. */
export function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: Method<I, O>,
  message: MessageShape<I>,
  apiKey?: string,
): Promise<MessageShape<O>> {
  const metadata = new Metadata();
  if (apiKey !== undefined) metadata.set("authorization", `Bearer ${apiKey}`);
  return new Promise((resolve, reject) => {
    const { path, encode, decode } = wire(method);
    client.makeUnaryRequest(path, encode, decode, message, metadata, (error, answer) => {
      if (error === null) resolve(answer as MessageShape<O>);
      else reject(error);
    });
  });
}

export function callServerStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: Method<I, O>,
  message: MessageShape<I>,
): ClientReadableStream<MessageShape<O>> {
  const { path, encode, decode } = wire(method);
  return client.makeServerStreamRequest(path, encode, decode, message);
}

export function callBidiStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: Method<I, O>,
): ClientDuplexStream<MessageShape<I>, MessageShape<O>> {
  const { path, encode, decode } = wire(method);
  return client.makeBidiStreamRequest(path, encode, decode);
}

function wire<I extends DescMessage, O extends DescMessage>({ parent, name, input, output }: Method<I, O>) {
  return {
    path: `/${parent.typeName}/${name}`,
    encode: (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
    decode: (bytes: Buffer) => fromBinary(output, bytes),
  };
}
