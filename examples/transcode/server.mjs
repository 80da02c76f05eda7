// Serves a service of your own over REST: buf build proto -o image.binpb && node server.mjs
import { readFileSync } from "node:fs";
import http from "node:http";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createRestHandler } from "tenantry/rest";

const image = fromBinary(FileDescriptorSetSchema, readFileSync("image.binpb"));
const greeter = createFileRegistry(image).getService("hello.v1.GreeterService");
const greet = ({ name, loud }) => ({ text: `Hello, ${loud ? name.toUpperCase() : name}!` });
const server = http.createServer(createRestHandler({ routes: (router) => router.service(greeter, { greet }) }));
server.listen(process.env.PORT ?? 8080, "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
