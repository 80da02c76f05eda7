// What the screens say about what the platform may do in an org.
export const supportTexts = {
  title: "The platform in this organisation",
  required:
    "People of the platform need an approval for what they do in the organisations of this customer. Without one, they can only operate them.",
  open: "This organisation requires no approval of what people of the platform do in it. Another one of the customer may.",
  require: "Require approval",
  release: "Require no approval",
  requireIntro:
    "People of the platform lose their access here and in the other organisations of the customer at once. They ask for a role for at most 72 hours, and an owner decides. They can still suspend an organisation, decide about its quota and read its usage.",
  releaseIntro:
    "People of the platform get back what their roles on the platform give, without asking, unless another organisation of the customer requires approval, too. All approvals of this organisation end.",
  done: { require: "Approval is required in", release: "No approval is required in" },
  requests: "Their requests",
};
