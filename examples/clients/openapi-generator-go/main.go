// Drives a service over REST: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
// a resource and its operation. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of
// the new Org.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"

	tenantry "tenantry.dev/rest"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// Calls that fail with 503 or 429 are repeated. A request_id makes that safe for writes.
	retries := retryablehttp.NewClient()
	retries.Logger = nil
	configuration := tenantry.NewConfiguration()
	configuration.HTTPClient = retries.StandardClient()
	configuration.Servers = tenantry.ServerConfigurations{{URL: os.Getenv("TENANTRY_URL")}}
	client := tenantry.NewAPIClient(configuration)
	ctx = startSession(ctx, client)
	org := os.Getenv("TENANTRY_ORG")
	createOrg(ctx, client, org)
	listMembers(ctx, client, org)
	grantAndCheck(ctx, client, org)
	readErrors(ctx, client, org)
	retry(ctx, client, org)
	createVolume(ctx, client, org)
	fmt.Println("openapi-generator-go: all is well")
}

// startSession exchanges the API key for tokens, refreshes them, and returns a context with the access token for all calls.
func startSession(ctx context.Context, client *tenantry.APIClient) context.Context {
	withKey := context.WithValue(ctx, tenantry.ContextAccessToken, os.Getenv("TENANTRY_KEY"))
	request := tenantry.IssueTokenRequest{StartSession: new(true)}
	issued, _, err := client.TokensAPI.IssueToken(withKey).IssueTokenRequest(request).Execute()
	require(err == nil, "issue a token: %v", err)
	refresh := *tenantry.NewRefreshTokenRequest(issued.GetRefreshToken())
	next, _, err := client.TokensAPI.RefreshToken(ctx).RefreshTokenRequest(refresh).Execute()
	require(err == nil && next.GetAccessToken() != issued.GetAccessToken(), "refresh: %v", err)
	return context.WithValue(ctx, tenantry.ContextAccessToken, next.GetAccessToken())
}

func createOrg(ctx context.Context, client *tenantry.APIClient, org string) {
	_, _, err := client.OrgsAPI.CreateOrg(ctx).OrgInput(*tenantry.NewOrgInput(org)).Execute()
	require(err == nil, "create the org: %v", err)
	_, _, err = client.ProjectsAPI.CreateProject(ctx, org).ProjectInput(*tenantry.NewProjectInput("web")).Execute()
	require(err == nil, "create the project: %v", err)
	requests := []tenantry.CreateMemberBody{}
	for _, name := range []string{"alice", "bob", "carol", "dave", "erin"} {
		requests = append(requests, *tenantry.NewCreateMemberBody(*tenantry.NewMemberInput(name)))
	}
	body := *tenantry.NewBatchCreateMembersBody(requests)
	_, _, err = client.MembersAPI.BatchCreateMembers(ctx, org).BatchCreateMembersBody(body).Execute()
	require(err == nil, "create the members: %v", err)
}

func listMembers(ctx context.Context, client *tenantry.APIClient, org string) {
	request := client.MembersAPI.ListMembers(ctx, org).PageSize(2).Filter("type = USER")
	names := []string{}
	for {
		page, _, err := request.Execute()
		require(err == nil, "list the members: %v", err)
		for _, member := range page.GetMembers() {
			names = append(names, member.GetName())
		}
		if page.GetNextPageToken() == "" {
			break
		}
		request = request.PageToken(page.GetNextPageToken())
	}
	require(strings.Join(names, " ") == "alice bob carol dave erin", "listed %v", names)
}

func grantAndCheck(ctx context.Context, client *tenantry.APIClient, org string) {
	permission := "compute.instances.start"
	starter := *tenantry.NewRoleInput("starter")
	starter.SetPermissions([]string{permission})
	role, _, err := client.RolesAPI.CreateRole(ctx, org).RoleInput(starter).Execute()
	require(err == nil, "create the role: %v", err)
	binding := *tenantry.NewRoleBindingInput("alice-starts", role.GetPath(), "orgs/"+org+"/members/alice")
	_, _, err = client.RoleBindingsAPI.CreateProjectRoleBinding(ctx, org, "web").RoleBindingInput(binding).Execute()
	require(err == nil, "bind the role: %v", err)
	for subject, expected := range map[string]bool{"alice": true, "bob": false} {
		question := *tenantry.NewCheckAccessRequest("orgs/"+org+"/members/"+subject, permission)
		question.SetResourcePath("orgs/" + org + "/projects/web/instances/db-1")
		answer, _, err := client.AccessAPI.CheckAccess(ctx).CheckAccessRequest(question).Execute()
		require(err == nil && answer.GetAllowed() == expected, "check %s: %v %v", subject, answer, err)
	}
}

func readErrors(ctx context.Context, client *tenantry.APIClient, org string) {
	_, _, err := client.MembersAPI.CreateMember(ctx, org).MemberInput(*tenantry.NewMemberInput("Dora")).Execute()
	var failure *tenantry.GenericOpenAPIError
	require(errors.As(err, &failure), "a bad name: %v", err)
	body, ok := failure.Model().(tenantry.Error)
	require(ok && body.Error.Status == "INVALID_ARGUMENT", "the error: %s", failure.Body())
	known := 0
	for _, detail := range body.Error.Details {
		switch detail := detail.GetActualInstance().(type) {
		case *tenantry.ErrorInfoDetail:
			require(detail.GetReason() == tenantry.ERRORREASON_FIELD_INVALID, "reason %s", detail.GetReason())
			known++
		case *tenantry.BadRequestDetail:
			violation := detail.GetFieldViolations()[0]
			require(violation.GetField() == "name", "field %s", violation.GetField())
			known++
		}
	}
	require(known == 2, "details %s", failure.Body())

	brief, cancel := context.WithTimeout(ctx, time.Microsecond)
	defer cancel()
	_, _, err = client.MembersAPI.GetMember(brief, org, "alice").Execute()
	require(errors.Is(err, context.DeadlineExceeded), "a deadline: %v", err)
}

// A repeated request_id gets the response of the first request: nothing is created twice.
func retry(ctx context.Context, client *tenantry.APIClient, org string) {
	request := client.GroupsAPI.CreateGroup(ctx, org).GroupInput(*tenantry.NewGroupInput("sre")).RequestId(uuid.NewString())
	first, _, err := request.Execute()
	require(err == nil, "create the group: %v", err)
	again, _, err := request.Execute()
	require(err == nil && first.GetId() == again.GetId(), "repeat: %v %v", again, err)
}

func createVolume(ctx context.Context, client *tenantry.APIClient, org string) {
	volume := *tenantry.NewResourceInput("disk-1", "/services/storage/resourceTypes/volumes")
	volume.SetQuantities(map[string]float64{"instance_storage": 10_000_000})
	operation, _, err := client.ResourcesAPI.CreateResource(ctx, org, "web").ResourceInput(volume).Execute()
	require(err == nil, "create the volume: %v", err)
	wait := tenantry.WaitOperationBody{Timeout: new("10s")}
	for !operation.GetDone() {
		id := path.Base(operation.GetPath())
		operation, _, err = client.OperationsAPI.WaitOperation(ctx, org, "web", id).WaitOperationBody(wait).Execute()
		require(err == nil, "wait: %v", err)
	}
	require(operation.GetState() == tenantry.OPERATIONSTATE_SUCCEEDED, "the operation: %v", operation)
}

func require(holds bool, format string, values ...any) {
	if !holds {
		log.Fatalf("openapi-generator-go: "+format, values...)
	}
}
