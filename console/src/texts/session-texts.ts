/** What is said before the session of this browser ends. */
export const ownSessionEnds = "It is that of this browser, which is then signed out as this member.";
