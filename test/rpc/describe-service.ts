import { type DescService, type MessageInitShape, create, createFileRegistry, setExtension } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { ResourceReferenceSchema, resource_reference } from "../../gen/google/api/resource_pb.ts";
import { type AuthorizationSchema, authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";

export interface ServiceInit {
  /** The method's `(iam.v1alpha.authorization)`; undefined for a method without one. */
  readonly option: { readonly permission: string; readonly pathField: string } | undefined;
  /** What the request's `path` refers to. */
  readonly resourceType: string;
}

/** A service as a proto would declare it: `test.ThingsService`, with the one method `GetThing`. */
export function describeService({ option, resourceType }: ServiceInit): DescService {
  const options = create(MethodOptionsSchema);
  if (option !== undefined) {
    const value: MessageInitShape<typeof AuthorizationSchema> = {
      $typeName: "iam.v1alpha.Authorization",
      anyone: false,
      ...option,
    };
    setExtension(options, authorization, value);
  }
  const pathOptions = create(FieldOptionsSchema);
  setExtension(pathOptions, resource_reference, create(ResourceReferenceSchema, { type: resourceType }));
  const optional = FieldDescriptorProto_Label.OPTIONAL;
  const file = create(FileDescriptorProtoSchema, {
    name: "test/things.proto",
    package: "test",
    syntax: "proto3",
    messageType: [
      {
        name: "GetThingRequest",
        field: [
          {
            name: "path",
            number: 1,
            label: optional,
            type: FieldDescriptorProto_Type.STRING,
            options: pathOptions,
          },
          { name: "size", number: 2, label: optional, type: FieldDescriptorProto_Type.INT32 },
        ],
      },
      { name: "Thing" },
    ],
    service: [
      {
        name: "ThingsService",
        method: [{ name: "GetThing", inputType: ".test.GetThingRequest", outputType: ".test.Thing", options }],
      },
    ],
  });
  const service = createFileRegistry(file, () => undefined).getService("test.ThingsService");
  if (service === undefined) throw new Error("the file has no service");
  return service;
}
