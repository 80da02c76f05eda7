import { type DescService, type MessageInitShape, create, createFileRegistry, setExtension } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { ResourceReferenceSchema, resource_reference } from "../../gen/google/api/resource_pb.ts";
import { AuthorizationSchema, authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { DeprecationSchema, deprecation } from "../../gen/iam/v1alpha/deprecation_pb.ts";

export interface ServiceInit {
  /** The method's `(iam.v1alpha.authorization)`; undefined for a method without one. */
  readonly option: MessageInitShape<typeof AuthorizationSchema> | undefined;
  /** The type of the request's `path`. */
  readonly resourceType: string;
  /** Whether the method has `deprecated = true`. */
  readonly deprecated?: boolean;
  /** The method's `(iam.v1alpha.deprecation)`. */
  readonly deprecation?: MessageInitShape<typeof DeprecationSchema>;
  /** The other fields of the request, by name. */
  readonly fields?: readonly string[];
}

/** Returns a service as a proto would declare it: `test.ThingsService`, with the one method `GetThing`. */
export function describeService(init: ServiceInit): DescService {
  const { option, resourceType, fields = [] } = init;
  const options = create(MethodOptionsSchema, { deprecated: init.deprecated ?? false });
  if (init.deprecation !== undefined) {
    setExtension(options, deprecation, create(DeprecationSchema, init.deprecation));
  }
  if (option !== undefined) setExtension(options, authorization, create(AuthorizationSchema, option));
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
          ...fields.map((name, index) => ({
            name,
            number: index + 3,
            label: optional,
            type: FieldDescriptorProto_Type.STRING,
          })),
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
