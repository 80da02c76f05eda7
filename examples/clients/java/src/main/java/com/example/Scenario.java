package com.example;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import dev.tenantry.iam.v1alpha.*;
import dev.tenantry.resources.v1alpha.*;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Drives a service over gRPC: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
 * a resource and its operation, a watch. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of the new Org.
 */
public final class Scenario {
  /** Calls that fail with UNAVAILABLE are retried. A request_id makes that safe for writes. */
  private static final Map<String, ?> RETRIES =
      Map.of(
          "methodConfig",
          List.of(
              Map.of(
                  "name",
                  List.of(Map.of()),
                  "retryPolicy",
                  Map.of(
                      "maxAttempts", 4.0,
                      "initialBackoff", "0.1s",
                      "maxBackoff", "2s",
                      "backoffMultiplier", 2.0,
                      "retryableStatusCodes", List.of("UNAVAILABLE")))));

  private final Channel channel;
  private final MembersServiceGrpc.MembersServiceBlockingStub members;
  private final String org;

  private Scenario(Channel channel, String org) {
    this.channel = channel;
    this.members = MembersServiceGrpc.newBlockingStub(channel);
    this.org = org;
  }

  public static void main(String[] args) throws Exception {
    ManagedChannel channel =
        ManagedChannelBuilder.forTarget(System.getenv("TENANTRY_URL").replaceFirst("^http://", ""))
            .usePlaintext()
            .defaultServiceConfig(RETRIES)
            .build();
    try {
      Session session = Session.start(channel, System.getenv("TENANTRY_KEY"));
      Channel authenticated = ClientInterceptors.intercept(channel, new BearerInterceptor(session::accessToken));
      Scenario scenario = new Scenario(authenticated, "orgs/" + System.getenv("TENANTRY_ORG"));
      String project = scenario.createOrg();
      refreshToken(session);
      List<String> names = scenario.listMembers().stream().map(Member::getName).toList();
      require(names.equals(List.of("alice", "bob", "carol", "dave", "erin")), names);
      scenario.grantAndCheck(project);
      scenario.readErrors();
      scenario.retry();
      scenario.createVolume(project);
      scenario.watch();
      System.out.println("java: all is well");
    } finally {
      channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  private static void refreshToken(Session session) {
    String before = session.accessToken();
    session.refreshNow();
    require(!session.accessToken().equals(before), "the same token");
  }

  private String createOrg() {
    OrgsServiceGrpc.newBlockingStub(channel)
        .createOrg(
            CreateOrgRequest.newBuilder().setOrg(Org.newBuilder().setName(org.replaceFirst("^orgs/", ""))).build());
    Project project =
        ProjectsServiceGrpc.newBlockingStub(channel)
            .createProject(
                CreateProjectRequest.newBuilder()
                    .setParentPath(org)
                    .setProject(Project.newBuilder().setName("web"))
                    .build());
    BatchCreateMembersRequest.Builder batch = BatchCreateMembersRequest.newBuilder().setParentPath(org);
    for (String name : List.of("alice", "bob", "carol", "dave", "erin")) {
      batch.addRequests(CreateMemberRequest.newBuilder().setMember(Member.newBuilder().setName(name)));
    }
    members.batchCreateMembers(batch.build());
    return project.getPath();
  }

  /** Returns all members, read page by page. */
  private List<Member> listMembers() {
    List<Member> found = new ArrayList<>();
    ListMembersRequest.Builder request =
        ListMembersRequest.newBuilder().setParentPath(org).setPageSize(2).setFilter("type = USER");
    do {
      ListMembersResponse page = members.listMembers(request.build());
      found.addAll(page.getMembersList());
      request.setPageToken(page.getNextPageToken());
    } while (!request.getPageToken().isEmpty());
    return found;
  }

  private void grantAndCheck(String project) {
    Role role =
        RolesServiceGrpc.newBlockingStub(channel)
            .createRole(
                CreateRoleRequest.newBuilder()
                    .setParentPath(org)
                    .setRole(Role.newBuilder().setName("starter").addPermissions("compute.instances.start"))
                    .build());
    RoleBindingsServiceGrpc.newBlockingStub(channel)
        .createRoleBinding(
            CreateRoleBindingRequest.newBuilder()
                .setParentPath(project)
                .setRoleBinding(
                    RoleBinding.newBuilder()
                        .setName("alice-starts")
                        .setRolePath(role.getPath())
                        .setSubjectPath(org + "/members/alice"))
                .build());
    Map.of("alice", true, "bob", false)
        .forEach(
            (subject, expected) -> {
              CheckAccessResponse answer =
                  AccessServiceGrpc.newBlockingStub(channel)
                      .checkAccess(
                          CheckAccessRequest.newBuilder()
                              .setSubjectPath(org + "/members/" + subject)
                              .setPermission("compute.instances.start")
                              .setResourcePath(project + "/instances/db-1")
                              .build());
              require(answer.getAllowed() == expected, answer);
            });
  }

  private void readErrors() throws InvalidProtocolBufferException {
    StatusRuntimeException badName =
        failureOf(
            () ->
                members.createMember(
                    CreateMemberRequest.newBuilder()
                        .setParentPath(org)
                        .setMember(Member.newBuilder().setName("Dora"))
                        .build()));
    require(badName.getStatus().getCode() == Status.Code.INVALID_ARGUMENT, badName);
    int known = 0;
    for (Any detail : StatusProto.fromThrowable(badName).getDetailsList()) {
      if (detail.is(ErrorInfo.class)) {
        require(detail.unpack(ErrorInfo.class).getReason().equals("FIELD_INVALID"), detail);
        known++;
      } else if (detail.is(BadRequest.class)) {
        require(detail.unpack(BadRequest.class).getFieldViolations(0).getField().equals("member.name"), detail);
        known++;
      }
    }
    require(known == 2, badName);
    StatusRuntimeException late =
        failureOf(
            () ->
                members
                    .withDeadlineAfter(1, TimeUnit.MICROSECONDS)
                    .getMember(GetMemberRequest.newBuilder().setPath(org + "/members/alice").build()));
    require(late.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED, late);
  }

  /** A repeated request_id gets the response of the first request: nothing is created twice. */
  private void retry() {
    CreateGroupRequest request =
        CreateGroupRequest.newBuilder()
            .setParentPath(org)
            .setGroup(Group.newBuilder().setName("sre"))
            .setRequestId(UUID.randomUUID().toString())
            .build();
    GroupsServiceGrpc.GroupsServiceBlockingStub groups = GroupsServiceGrpc.newBlockingStub(channel);
    require(groups.createGroup(request).getId().equals(groups.createGroup(request).getId()), request);
  }

  private void createVolume(String project) {
    Operation operation =
        ResourcesServiceGrpc.newBlockingStub(channel)
            .createResource(
                CreateResourceRequest.newBuilder()
                    .setParentPath(project)
                    .setResource(
                        Resource.newBuilder()
                            .setName("disk-1")
                            .setTypePath("/services/storage/resourceTypes/volumes")
                            .putQuantities("instance_storage", 10_000_000))
                    .build());
    while (!operation.getDone()) {
      operation =
          OperationsServiceGrpc.newBlockingStub(channel)
              .waitOperation(
                  WaitOperationRequest.newBuilder()
                      .setPath(operation.getPath())
                      .setTimeout(Duration.newBuilder().setSeconds(10))
                      .build());
    }
    require(operation.getState() == Operation.State.SUCCEEDED, operation);
  }

  /** The stream begins with the resources as they are, and then gets what is changed. */
  private void watch() {
    Context.CancellableContext context = Context.current().withCancellation();
    context.run(
        () -> {
          Iterator<WatchChangesResponse> messages =
              ChangesServiceGrpc.newBlockingStub(channel)
                  .watchChanges(
                      WatchChangesRequest.newBuilder().setParentPath(org).setInitialState(true).build());
          List<String> found = new ArrayList<>();
          WatchChangesResponse message = messages.next();
          for (; !message.getCheckpoint().getSynced(); message = messages.next()) {
            found.add(message.getState().getResourcePath());
          }
          require(found.contains("/" + org + "/members/alice"), found);
          GroupsServiceGrpc.newBlockingStub(channel)
              .createGroup(
                  CreateGroupRequest.newBuilder()
                      .setParentPath(org)
                      .setGroup(Group.newBuilder().setName("watched"))
                      .build());
          while (!message.getChange().getResourcePath().equals("/" + org + "/groups/watched")) {
            message = messages.next();
          }
        });
    context.cancel(null);
  }

  private static StatusRuntimeException failureOf(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException error) {
      return error;
    }
    throw new AssertionError("the call succeeded");
  }

  private static void require(boolean holds, Object found) {
    if (!holds) throw new AssertionError("java: " + found);
  }
}
