module example.com/scenario

go 1.26

require (
	github.com/google/uuid v1.6.0
	github.com/hashicorp/go-retryablehttp v0.7.8
	tenantry.dev/rest v0.0.0
)

// The generated code is a module of its own, in this folder.
replace tenantry.dev/rest => ./gen
