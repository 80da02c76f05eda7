// Drives a service over gRPC: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
// a resource and its operation. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of the new Org.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	iam "tenantry.dev/go/iam/v1alpha"
	resources "tenantry.dev/go/resources/v1alpha"
)

// bearer sends the API key with every call. A service behind TLS should require transport security.
type bearer string

func (key bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(key)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

// Calls that fail with UNAVAILABLE are retried. A request_id makes that safe for writes.
const retries = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s",
	"maxBackoff": "2s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	withKey := connect(bearer(os.Getenv("TENANTRY_KEY")))
	defer withKey.Close()
	session := startSession(ctx, iam.NewTokensServiceClient(withKey))
	connection := connect(session)
	defer connection.Close()
	org := "orgs/" + os.Getenv("TENANTRY_ORG")
	project := createOrg(ctx, connection, org)
	refreshToken(ctx, connection, session, org)
	listMembers(ctx, connection, org)
	grantAndCheck(ctx, connection, org, project)
	readErrors(ctx, connection, org)
	retry(ctx, connection, org)
	createVolume(ctx, connection, project)
	watch(ctx, connection, org)
	fmt.Println("go: all is well")
}

func connect(credentials credentials.PerRPCCredentials) *grpc.ClientConn {
	connection, err := grpc.NewClient(strings.TrimPrefix(os.Getenv("TENANTRY_URL"), "http://"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(credentials),
		grpc.WithDefaultServiceConfig(retries))
	require(err == nil, "connect: %v", err)
	return connection
}

// The session refreshes its token on the next call.
func refreshToken(ctx context.Context, connection *grpc.ClientConn, session *session, org string) {
	before := session.accessToken
	session.expires = time.Now()
	_, err := iam.NewOrgsServiceClient(connection).GetOrg(ctx, &iam.GetOrgRequest{Path: org})
	require(err == nil && session.accessToken != before, "refresh: %v", err)
}

func createOrg(ctx context.Context, connection *grpc.ClientConn, org string) (project string) {
	name := strings.TrimPrefix(org, "orgs/")
	_, err := iam.NewOrgsServiceClient(connection).CreateOrg(ctx, &iam.CreateOrgRequest{Org: &iam.Org{Name: name}})
	require(err == nil, "create the org: %v", err)
	made, err := iam.NewProjectsServiceClient(connection).CreateProject(ctx, &iam.CreateProjectRequest{
		ParentPath: org,
		Project:    &iam.Project{Name: "web"},
	})
	require(err == nil, "create the project: %v", err)
	requests := []*iam.CreateMemberRequest{}
	for _, name := range []string{"alice", "bob", "carol", "dave", "erin"} {
		requests = append(requests, &iam.CreateMemberRequest{Member: &iam.Member{Name: name}})
	}
	_, err = iam.NewMembersServiceClient(connection).BatchCreateMembers(ctx, &iam.BatchCreateMembersRequest{
		ParentPath: org,
		Requests:   requests,
	})
	require(err == nil, "create the members: %v", err)
	return made.GetPath()
}

// The stream gets what is changed from when it has begun, which its first message says.
func watch(ctx context.Context, connection *grpc.ClientConn, org string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := iam.NewChangesServiceClient(connection).WatchChanges(ctx, &iam.WatchChangesRequest{ParentPath: org})
	require(err == nil, "watch: %v", err)
	first, err := stream.Recv()
	require(err == nil && first.GetCheckpoint().GetSynced(), "begin to watch: %v", err)
	_, err = iam.NewGroupsServiceClient(connection).CreateGroup(ctx, &iam.CreateGroupRequest{
		ParentPath: org,
		Group:      &iam.Group{Name: "watched"},
	})
	require(err == nil, "create a group: %v", err)
	for {
		message, err := stream.Recv()
		require(err == nil, "go on to watch: %v", err)
		if message.GetChange().GetResourcePath() == "/"+org+"/groups/watched" {
			return
		}
	}
}

func listMembers(ctx context.Context, connection *grpc.ClientConn, org string) {
	members := iam.NewMembersServiceClient(connection)
	request := &iam.ListMembersRequest{ParentPath: org, PageSize: 2, Filter: "type = USER"}
	names := []string{}
	for {
		page, err := members.ListMembers(ctx, request)
		require(err == nil, "list the members: %v", err)
		for _, member := range page.GetMembers() {
			names = append(names, member.GetName())
		}
		if page.GetNextPageToken() == "" {
			break
		}
		request.PageToken = page.GetNextPageToken()
	}
	require(strings.Join(names, " ") == "alice bob carol dave erin", "listed %v", names)
}

func grantAndCheck(ctx context.Context, connection *grpc.ClientConn, org, project string) {
	role, err := iam.NewRolesServiceClient(connection).CreateRole(ctx, &iam.CreateRoleRequest{
		ParentPath: org,
		Role:       &iam.Role{Name: "starter", Permissions: []string{"compute.instances.start"}},
	})
	require(err == nil, "create the role: %v", err)
	_, err = iam.NewRoleBindingsServiceClient(connection).CreateRoleBinding(ctx, &iam.CreateRoleBindingRequest{
		ParentPath: project,
		RoleBinding: &iam.RoleBinding{
			Name: "alice-starts", RolePath: role.GetPath(), SubjectPath: org + "/members/alice",
		},
	})
	require(err == nil, "bind the role: %v", err)
	for subject, expected := range map[string]bool{"alice": true, "bob": false} {
		answer, err := iam.NewAccessServiceClient(connection).CheckAccess(ctx, &iam.CheckAccessRequest{
			SubjectPath:  org + "/members/" + subject,
			Permission:   "compute.instances.start",
			ResourcePath: project + "/instances/db-1",
		})
		require(err == nil && answer.GetAllowed() == expected, "check %s: %v %v", subject, answer, err)
	}
}

func readErrors(ctx context.Context, connection *grpc.ClientConn, org string) {
	members := iam.NewMembersServiceClient(connection)
	_, err := members.CreateMember(ctx, &iam.CreateMemberRequest{ParentPath: org, Member: &iam.Member{Name: "Dora"}})
	failure := status.Convert(err)
	require(failure.Code() == codes.InvalidArgument, "a bad name: %v", err)
	for _, detail := range failure.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			require(detail.GetReason() == "FIELD_INVALID", "reason %s", detail.GetReason())
		case *errdetails.BadRequest:
			violation := detail.GetFieldViolations()[0]
			require(violation.GetField() == "member.name", "field %s", violation.GetField())
		}
	}
	require(len(failure.Details()) >= 2, "details %v", failure.Details())

	brief, cancel := context.WithTimeout(ctx, time.Microsecond)
	defer cancel()
	_, err = members.GetMember(brief, &iam.GetMemberRequest{Path: org + "/members/alice"})
	require(status.Code(err) == codes.DeadlineExceeded, "a deadline: %v", err)
}

// A repeated request_id gets the response of the first request: nothing is created twice.
func retry(ctx context.Context, connection *grpc.ClientConn, org string) {
	groups := iam.NewGroupsServiceClient(connection)
	request := &iam.CreateGroupRequest{
		ParentPath: org,
		Group:      &iam.Group{Name: "sre"},
		RequestId:  newUUID(),
	}
	first, err := groups.CreateGroup(ctx, request)
	require(err == nil, "create the group: %v", err)
	again, err := groups.CreateGroup(ctx, request)
	require(err == nil && first.GetId() == again.GetId(), "repeat: %v %v", again, err)
}

func newUUID() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func createVolume(ctx context.Context, connection *grpc.ClientConn, project string) {
	operation, err := resources.NewResourcesServiceClient(connection).CreateResource(ctx, &resources.CreateResourceRequest{
		ParentPath: project,
		Resource: &resources.Resource{
			Name:       "disk-1",
			TypePath:   "/services/storage/resourceTypes/volumes",
			Quantities: map[string]float64{"instance_storage": 10_000_000},
		},
	})
	require(err == nil, "create the volume: %v", err)
	operations := resources.NewOperationsServiceClient(connection)
	for !operation.GetDone() {
		operation, err = operations.WaitOperation(ctx, &resources.WaitOperationRequest{
			Path:    operation.GetPath(),
			Timeout: durationpb.New(10 * time.Second),
		})
		require(err == nil, "wait: %v", err)
	}
	require(operation.GetState() == resources.Operation_SUCCEEDED, "the operation: %v", operation)
}

func require(holds bool, format string, values ...any) {
	if !holds {
		log.Fatalf("go: "+format, values...)
	}
}
