module example.com/scenario

go 1.26

require (
	github.com/google/uuid v1.6.0
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/oapi-codegen/runtime v1.8.0
	golang.org/x/oauth2 v0.37.0
)
