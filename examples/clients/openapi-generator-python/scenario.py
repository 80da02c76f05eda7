"""Drives a service over REST: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
a resource and its operation. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of the
new Org."""

import os
import uuid

import pydantic
import tenantry
import urllib3

# Calls that the service refuses with 503 or 429 are repeated. A request_id makes that safe for writes.
RETRIES = urllib3.Retry(
    total=4, read=False, status_forcelist=[429, 503], allowed_methods=None, backoff_factor=0.1, raise_on_status=False
)


def start_session(client):
    """Exchanges the API key for tokens, refreshes them, and uses the access token for all further calls."""
    tokens = tenantry.TokensApi(client)
    client.configuration.access_token = os.environ["TENANTRY_KEY"]
    issued = tokens.issue_token(tenantry.IssueTokenRequest(start_session=True))
    refreshed = tokens.refresh_token(tenantry.RefreshTokenRequest(refresh_token=issued.refresh_token))
    assert refreshed.access_token != issued.access_token
    client.configuration.access_token = refreshed.access_token


def create_org(client, org):
    tenantry.OrgsApi(client).create_org(tenantry.OrgInput(name=org))
    tenantry.ProjectsApi(client).create_project(org, tenantry.ProjectInput(name="web"))
    names = ["alice", "bob", "carol", "dave", "erin"]
    requests = [tenantry.CreateMemberBody(member=tenantry.MemberInput(name=name)) for name in names]
    tenantry.MembersApi(client).batch_create_members(org, tenantry.BatchCreateMembersBody(requests=requests))


def list_members(members, org):
    """Yields all members, page by page."""
    page_token = None
    while True:
        page = members.list_members(org, page_size=2, filter="type = USER", page_token=page_token)
        yield from page.members
        page_token = page.next_page_token
        if not page_token:
            return


def grant_and_check(client, org):
    permission = "compute.instances.start"
    role = tenantry.RolesApi(client).create_role(org, tenantry.RoleInput(name="starter", permissions=[permission]))
    binding = tenantry.RoleBindingInput(
        name="alice-starts", role_path=role.path, subject_path=f"orgs/{org}/members/alice"
    )
    tenantry.RoleBindingsApi(client).create_project_role_binding(org, "web", binding)
    access = tenantry.AccessApi(client)
    for subject, expected in [("alice", True), ("bob", False)]:
        question = tenantry.CheckAccessRequest(
            subject_path=f"orgs/{org}/members/{subject}",
            permission=permission,
            resource_path=f"orgs/{org}/projects/web/instances/db-1",
        )
        assert access.check_access(question).allowed == expected, subject


def read_errors(members, org):
    # The client itself refuses what does not match the document.
    try:
        tenantry.MemberInput(name="Dora")
        raise AssertionError("a bad name was accepted")
    except pydantic.ValidationError as error:
        assert error.errors()[0]["loc"] == ("name",), error
    try:
        members.list_members(org, filter="type = ")
        raise AssertionError("a bad filter was accepted")
    except tenantry.exceptions.BadRequestException as error:
        details = {type(detail.actual_instance): detail.actual_instance for detail in error.data.error.details}
        assert details[tenantry.ErrorInfoDetail].reason == tenantry.ErrorReason.FIELD_INVALID, details
        assert details[tenantry.BadRequestDetail].field_violations[0].field_path == "filter", details
    try:
        members.get_member(org, "alice", _request_timeout=0.000001)
        raise AssertionError("the deadline had no effect")
    except urllib3.exceptions.TimeoutError:
        pass


def retry(client, org):
    """A repeated request_id gets the response of the first request: nothing is created twice."""
    groups = tenantry.GroupsApi(client)
    request_id = str(uuid.uuid4())
    ids = {groups.create_group(org, tenantry.GroupInput(name="sre"), request_id=request_id).id for _ in range(2)}
    assert len(ids) == 1, ids


def create_volume(client, org):
    volume = tenantry.ResourceInput(
        name="disk-1",
        type_path="/services/storage/resourceTypes/volumes",
        quantities={"instance_storage": 10_000_000},
    )
    operation = tenantry.ResourcesApi(client).create_resource(org, "web", volume)
    operations = tenantry.OperationsApi(client)
    while not operation.done:
        operation_id = operation.path.rsplit("/", 1)[1]
        operation = operations.wait_operation(org, "web", operation_id, tenantry.WaitOperationBody(timeout="10s"))
    assert operation.state == tenantry.OperationState.SUCCEEDED, operation


def main():
    org = os.environ["TENANTRY_ORG"]
    configuration = tenantry.Configuration(host=os.environ["TENANTRY_URL"], retries=RETRIES)
    with tenantry.ApiClient(configuration) as client:
        start_session(client)
        members = tenantry.MembersApi(client)
        create_org(client, org)
        names = [member.name for member in list_members(members, org)]
        assert names == ["alice", "bob", "carol", "dave", "erin"], names
        grant_and_check(client, org)
        read_errors(members, org)
        retry(client, org)
        create_volume(client, org)
    print("openapi-generator-python: all is well")


main()
