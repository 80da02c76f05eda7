"""Drives a service over gRPC: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
a resource and its operation, a watch. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of
the new Org."""

import json
import os
import threading
import uuid
from datetime import datetime, timedelta, timezone

import grpc
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from iam.v1alpha import access_pb2, access_pb2_grpc, change_pb2, change_pb2_grpc, group_pb2, group_pb2_grpc, member_pb2, member_pb2_grpc
from iam.v1alpha import org_pb2, org_pb2_grpc, project_pb2, project_pb2_grpc
from iam.v1alpha import role_binding_pb2, role_binding_pb2_grpc, role_pb2, role_pb2_grpc
from iam.v1alpha import token_pb2, token_pb2_grpc
from resources.v1alpha import operation_pb2, operation_pb2_grpc, resource_pb2, resource_pb2_grpc

# Calls that fail with UNAVAILABLE are retried. A request_id makes that safe for writes.
RETRIES = {
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "2s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}


class BearerInterceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Sends what get_credential returns with every call. Behind TLS, grpc.metadata_call_credentials does the same."""

    def __init__(self, get_credential):
        self.get_credential = get_credential

    def intercept_unary_unary(self, continuation, call, request):
        bearer = ("authorization", f"Bearer {self.get_credential()}")
        return continuation(call._replace(metadata=[*(call.metadata or []), bearer]), request)

    intercept_unary_stream = intercept_unary_unary


class Session:
    """An access token, which is refreshed a minute before it expires."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.lock = threading.Lock()
        self.issued = tokens.IssueToken(token_pb2.IssueTokenRequest(start_session=True))

    def access_token(self):
        with self.lock:
            expires = self.issued.expire_time.ToDatetime(timezone.utc)
            if expires - datetime.now(timezone.utc) < timedelta(minutes=1):
                request = token_pb2.RefreshTokenRequest(refresh_token=self.issued.refresh_token)
                self.issued = self.tokens.RefreshToken(request)
            return self.issued.access_token


def refresh_token(session):
    before = session.access_token()
    session.issued.expire_time.FromDatetime(datetime.now(timezone.utc))
    assert session.access_token() != before


def create_org(channel, org):
    name = org.removeprefix("orgs/")
    org_pb2_grpc.OrgsServiceStub(channel).CreateOrg(org_pb2.CreateOrgRequest(org=org_pb2.Org(name=name)))
    project = project_pb2_grpc.ProjectsServiceStub(channel).CreateProject(
        project_pb2.CreateProjectRequest(parent_path=org, project=project_pb2.Project(name="web"))
    )
    names = ["alice", "bob", "carol", "dave", "erin"]
    requests = [member_pb2.CreateMemberRequest(member=member_pb2.Member(name=name)) for name in names]
    member_pb2_grpc.MembersServiceStub(channel).BatchCreateMembers(
        member_pb2.BatchCreateMembersRequest(parent_path=org, requests=requests)
    )
    return project.path


def list_members(members, org):
    """Yields all members, page by page."""
    request = member_pb2.ListMembersRequest(parent_path=org, page_size=2, filter="type = USER")
    while True:
        page = members.ListMembers(request)
        yield from page.members
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def grant_and_check(channel, org, project):
    role = role_pb2_grpc.RolesServiceStub(channel).CreateRole(
        role_pb2.CreateRoleRequest(
            parent_path=org, role=role_pb2.Role(name="starter", permissions=["compute.instances.start"])
        )
    )
    binding = role_binding_pb2.RoleBinding(
        name="alice-starts", role_path=role.path, subject_path=f"{org}/members/alice"
    )
    role_binding_pb2_grpc.RoleBindingsServiceStub(channel).CreateRoleBinding(
        role_binding_pb2.CreateRoleBindingRequest(parent_path=project, role_binding=binding)
    )
    access = access_pb2_grpc.AccessServiceStub(channel)
    for subject, expected in [("alice", True), ("bob", False)]:
        answer = access.CheckAccess(
            access_pb2.CheckAccessRequest(
                subject_path=f"{org}/members/{subject}",
                permission="compute.instances.start",
                resource_path=f"{project}/instances/db-1",
            )
        )
        assert answer.allowed == expected, answer


def details_of(error):
    """Returns the details of an error by their type, unpacked."""
    found = {}
    for detail in rpc_status.from_call(error).details:
        for message in [error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()]:
            if detail.Unpack(message):
                found[type(message)] = message
    return found


def read_errors(members, org):
    try:
        members.CreateMember(member_pb2.CreateMemberRequest(parent_path=org, member=member_pb2.Member(name="Dora")))
        raise AssertionError("a bad name was accepted")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
        details = details_of(error)
        assert details[error_details_pb2.ErrorInfo].reason == "FIELD_INVALID", details
        assert details[error_details_pb2.BadRequest].field_violations[0].field == "member.name", details
    # gRPC counts deadlines in milliseconds, in which a Get may be done.
    requests = [member_pb2.CreateMemberRequest(member=member_pb2.Member(name=f"m{index}")) for index in range(500)]
    batch = member_pb2.BatchCreateMembersRequest(parent_path=org, requests=requests, validate_only=True)
    try:
        members.BatchCreateMembers(batch, timeout=0.001)
        raise AssertionError("the deadline had no effect")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error


def retry(channel, org):
    """A repeated request_id gets the response of the first request: nothing is created twice."""
    request = group_pb2.CreateGroupRequest(
        parent_path=org, group=group_pb2.Group(name="sre"), request_id=str(uuid.uuid4())
    )
    groups = group_pb2_grpc.GroupsServiceStub(channel)
    first, again = groups.CreateGroup(request), groups.CreateGroup(request)
    assert first.id == again.id, (first, again)


def create_volume(channel, project):
    operation = resource_pb2_grpc.ResourcesServiceStub(channel).CreateResource(
        resource_pb2.CreateResourceRequest(
            parent_path=project,
            resource=resource_pb2.Resource(
                name="disk-1",
                type_path="/services/storage/resourceTypes/volumes",
                quantities={"instance_storage": 10_000_000},
            ),
        )
    )
    operations = operation_pb2_grpc.OperationsServiceStub(channel)
    while not operation.done:
        operation = operations.WaitOperation(
            operation_pb2.WaitOperationRequest(path=operation.path, timeout=duration_pb2.Duration(seconds=10))
        )
    assert operation.state == operation_pb2.Operation.SUCCEEDED, operation


def watch(channel, org):
    """The stream begins with the resources as they are, and then gets what is changed."""
    request = change_pb2.WatchChangesRequest(parent_path=org, initial_state=True)
    stream = change_pb2_grpc.ChangesServiceStub(channel).WatchChanges(request)
    found = set()
    for message in stream:
        if message.WhichOneof("event") == "state":
            found.add(message.state.resource_path)
        elif message.checkpoint.synced:
            break
    assert f"/{org}/members/alice" in found, found
    group_pb2_grpc.GroupsServiceStub(channel).CreateGroup(
        group_pb2.CreateGroupRequest(parent_path=org, group=group_pb2.Group(name="watched"))
    )
    for message in stream:
        if message.change.resource_path == f"/{org}/groups/watched":
            break
    stream.cancel()


def main():
    address = os.environ["TENANTRY_URL"].removeprefix("http://")
    org = f"orgs/{os.environ['TENANTRY_ORG']}"
    plain = grpc.insecure_channel(address, options=[("grpc.service_config", json.dumps(RETRIES))])
    with plain:
        with_key = grpc.intercept_channel(plain, BearerInterceptor(lambda: os.environ["TENANTRY_KEY"]))
        session = Session(token_pb2_grpc.TokensServiceStub(with_key))
        channel = grpc.intercept_channel(plain, BearerInterceptor(session.access_token))
        members = member_pb2_grpc.MembersServiceStub(channel)
        project = create_org(channel, org)
        refresh_token(session)
        names = [member.name for member in list_members(members, org)]
        assert names == ["alice", "bob", "carol", "dave", "erin"], names
        grant_and_check(channel, org, project)
        read_errors(members, org)
        retry(channel, org)
        create_volume(channel, project)
        watch(channel, org)
    print("python: all is well")


main()
