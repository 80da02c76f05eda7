// What the screens say about what the platform may do in an org.
export const supportTexts = {
  title: "The platform in this organisation",
  required:
    "The organisation approves what people of the platform do in it. Without a request that it has approved, they can only operate it.",
  open: "People of the platform can read and change what is in the organisation, as far as their own roles go.",
  require: "Require approval",
  release: "Require no approval",
  requireIntro:
    "People of the platform lose their access here at once. They ask for a role for at most 72 hours, and an owner decides. They can still suspend the organisation, decide about its quota and read its usage.",
  releaseIntro: "People of the platform get back what their roles on the platform give, without asking.",
  done: { require: "Approval is required in", release: "No approval is required in" },
  requests: "Their requests",
};
