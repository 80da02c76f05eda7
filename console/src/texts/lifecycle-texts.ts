// What is said where something is suspended, activated, deleted and restored.
export const lifecycleTexts = {
  restore: "Restore",
  restored: "Restored",
  deletedAt: "Deleted",
  goneAfter: "Gone for ever after",
  restoreMember: "It is as it was when it was deleted, and its keys and memberships are valid again.",
  restoreOrg: "It is as it was when it was deleted, with all that is in it.",
  restoreCustomer: "It is as it was when it was deleted, with its organisations.",
  restoreProject: "It is as it was when it was deleted, with all that is in it.",
  suspend: "Suspend",
  suspendIntro:
    "Nothing in it can be changed, only who may activate it sees what is in it, and providers suspend its resources, until it is activated.",
  activate: "Activate",
  activateIntro: "What is in it can be seen and changed again as before, and providers resume its resources.",
  projectIsSuspended:
    "This project is suspended: nothing in it can be changed, and only who may activate it sees what is in it.",
  orgIsSuspended:
    "This organisation is suspended: nothing in it can be changed, and only who may activate it sees what is in it.",
  projectIsDeleted: "This project is deleted. It can be restored until it is gone for ever.",
  memberIsDeleted: "This member is deleted. It can be restored until it is gone for ever.",
};
