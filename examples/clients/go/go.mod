module example.com/scenario

go 1.26

require (
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261026165753-2ffab32bce7e
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
	tenantry.dev/go v0.0.0
)

// The generated code is a module of its own, in this folder.
replace tenantry.dev/go => ./gen
