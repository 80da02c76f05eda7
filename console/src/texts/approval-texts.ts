// What the screen of an org says about how many people approve a request for access.
export const approvalTexts = {
  title: "Approvals of requests for access",
  one: "One person approves a request for access.",
  two: "Two people approve a request for access before it counts.",
  requests: "Requests for access",
  wantTwo: "Require two approvals",
  wantOne: "Require one approval",
  wantTwoIntro:
    "Two people who can grant the role approve each request, also those that wait. Access that is granted already stays, and roles that are granted by hand need no approval.",
  wantOneIntro: "One person who can grant the role approves a request, also one that waits.",
  done: { wantTwo: "Two approvals are required in", wantOne: "One approval is required in" },
};
