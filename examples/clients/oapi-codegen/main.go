// Drives a service over REST: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
// a resource and its operation. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of
// the new Org.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	tenantry "example.com/scenario/gen"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := connect(ctx)
	org := os.Getenv("TENANTRY_ORG")
	createOrg(ctx, client, org)
	listMembers(ctx, client, org)
	grantAndCheck(ctx, client, org)
	readErrors(ctx, client, org)
	retry(ctx, client, org)
	createVolume(ctx, client, org)
	fmt.Println("oapi-codegen: all is well")
}

// connect returns a client that repeats calls that fail with 503 or 429, and that refreshes its token when it expires. The first
// token counts as expired, so that it is refreshed.
func connect(ctx context.Context) *tenantry.ClientWithResponses {
	retries := retryablehttp.NewClient()
	retries.Logger = nil
	ctx = context.WithValue(ctx, oauth2.HTTPClient, retries.StandardClient())

	url := os.Getenv("TENANTRY_URL")
	credentials := clientcredentials.Config{
		ClientSecret: os.Getenv("TENANTRY_KEY"),
		TokenURL:     url + "/oauth2/token",
		AuthStyle:    oauth2.AuthStyleInParams,
		Scopes:       []string{"offline_access"},
	}
	token, err := credentials.Token(ctx)
	require(err == nil && token.RefreshToken != "", "a token: %v", err)
	expired := *token
	expired.Expiry = time.Now()
	refresh := oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: url + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams}}
	tokens := oauth2.ReuseTokenSource(nil, refresh.TokenSource(ctx, &expired))
	next, err := tokens.Token()
	require(err == nil && next.AccessToken != token.AccessToken, "refresh the token: %v", err)

	client, err := tenantry.NewClientWithResponses(url, tenantry.WithHTTPClient(oauth2.NewClient(ctx, tokens)))
	require(err == nil, "connect: %v", err)
	return client
}

func createOrg(ctx context.Context, client *tenantry.ClientWithResponses, org string) {
	made, err := client.CreateOrgWithResponse(ctx, nil, tenantry.OrgInput{Name: org})
	require(err == nil && made.JSON201 != nil, "create the org: %v %s", err, made.Body)
	project, err := client.CreateProjectWithResponse(ctx, org, nil, tenantry.ProjectInput{Name: "web"})
	require(err == nil && project.JSON201 != nil, "create the project: %v %s", err, project.Body)
	requests := []tenantry.CreateMemberBody{}
	for _, name := range []string{"alice", "bob", "carol", "dave", "erin"} {
		requests = append(requests, tenantry.CreateMemberBody{Member: tenantry.MemberInput{Name: name}})
	}
	body := tenantry.BatchCreateMembersBody{Requests: requests}
	members, err := client.BatchCreateMembersWithResponse(ctx, org, nil, body)
	require(err == nil && members.StatusCode() == http.StatusOK, "create the members: %v %s", err, members.Body)
}

func listMembers(ctx context.Context, client *tenantry.ClientWithResponses, org string) {
	params := &tenantry.ListMembersParams{PageSize: new(int32(2)), Filter: new("type = USER")}
	names := []string{}
	for {
		page, err := client.ListMembersWithResponse(ctx, org, params)
		require(err == nil && page.JSON200 != nil, "list the members: %v %s", err, page.Body)
		for _, member := range *page.JSON200.Members {
			names = append(names, member.Name)
		}
		params.PageToken = page.JSON200.NextPageToken
		if params.PageToken == nil || *params.PageToken == "" {
			break
		}
	}
	require(strings.Join(names, " ") == "alice bob carol dave erin", "listed %v", names)
}

func grantAndCheck(ctx context.Context, client *tenantry.ClientWithResponses, org string) {
	permission := "compute.instances.start"
	role, err := client.CreateRoleWithResponse(ctx, org, nil, tenantry.RoleInput{
		Name:        "starter",
		Permissions: &[]string{permission},
	})
	require(err == nil && role.JSON201 != nil, "create the role: %v %s", err, role.Body)
	binding, err := client.CreateProjectRoleBindingWithResponse(ctx, org, "web", nil, tenantry.RoleBindingInput{
		Name:        "alice-starts",
		RolePath:    *role.JSON201.Path,
		SubjectPath: "orgs/" + org + "/members/alice",
	})
	require(err == nil && binding.JSON201 != nil, "bind the role: %v %s", err, binding.Body)
	for subject, expected := range map[string]bool{"alice": true, "bob": false} {
		answer, err := client.CheckAccessWithResponse(ctx, nil, tenantry.CheckAccessRequest{
			SubjectPath:  "orgs/" + org + "/members/" + subject,
			Permission:   permission,
			ResourcePath: new("orgs/" + org + "/projects/web/instances/db-1"),
		})
		require(err == nil && answer.JSON200 != nil && *answer.JSON200.Allowed == expected, "check %s: %v", subject, err)
	}
}

func readErrors(ctx context.Context, client *tenantry.ClientWithResponses, org string) {
	result, err := client.CreateMemberWithResponse(ctx, org, nil, tenantry.MemberInput{Name: "Dora"})
	require(err == nil && result.JSON400 != nil, "a bad name: %v %s", err, result.Body)
	known := 0
	for _, detail := range result.JSON400.Error.Details {
		value, err := detail.ValueByDiscriminator()
		require(err == nil, "a detail: %v", err)
		switch detail := value.(type) {
		case tenantry.ErrorInfoDetail:
			require(*detail.Reason == tenantry.ErrorReasonFIELDINVALID, "reason %s", *detail.Reason)
			known++
		case tenantry.BadRequestDetail:
			require(*(*detail.FieldViolations)[0].Field == "name", "violations %v", detail.FieldViolations)
			known++
		}
	}
	require(known == 2, "details %s", result.Body)

	brief, cancel := context.WithTimeout(ctx, time.Microsecond)
	defer cancel()
	_, err = client.GetMemberWithResponse(brief, org, "alice", nil)
	require(errors.Is(err, context.DeadlineExceeded), "a deadline: %v", err)
}

// A repeated request_id gets the response of the first request: nothing is created twice.
func retry(ctx context.Context, client *tenantry.ClientWithResponses, org string) {
	params := &tenantry.CreateGroupParams{RequestID: new(uuid.NewString())}
	ids := map[string]bool{}
	for range 2 {
		group, err := client.CreateGroupWithResponse(ctx, org, params, tenantry.GroupInput{Name: "sre"})
		require(err == nil && group.JSON201 != nil, "create the group: %v %s", err, group.Body)
		ids[*group.JSON201.ID] = true
	}
	require(len(ids) == 1, "repeat: %v", ids)
}

func createVolume(ctx context.Context, client *tenantry.ClientWithResponses, org string) {
	created, err := client.CreateResourceWithResponse(ctx, org, "web", nil, tenantry.ResourceInput{
		Name:       "disk-1",
		TypePath:   "/services/storage/resourceTypes/volumes",
		Quantities: &map[string]float64{"instance_storage": 10_000_000},
	})
	require(err == nil && created.StatusCode() < 300, "create the volume: %v %s", err, created.Body)
	var operation tenantry.Operation
	err = json.Unmarshal(created.Body, &operation)
	require(err == nil, "the operation: %v", err)
	for !*operation.Done {
		waited, err := client.WaitOperationWithResponse(ctx, org, "web", path.Base(*operation.Path), nil,
			tenantry.WaitOperationBody{Timeout: new("10s")})
		require(err == nil && waited.JSON200 != nil, "wait: %v %s", err, waited.Body)
		operation = *waited.JSON200
	}
	require(*operation.State == tenantry.OperationStateSUCCEEDED, "the operation: %v", operation.State)
}

func require(holds bool, format string, values ...any) {
	if !holds {
		log.Fatalf("oapi-codegen: "+format, values...)
	}
}
