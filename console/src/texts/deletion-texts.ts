// What is said before something that people have named is deleted.
export const deletionTexts = {
  group: "Its members stay, and lose what they have through it. This cannot be undone.",
  member: "It loses all access at once, and its name is free. Until it is purged, it can be restored.",
  project: "What is in it is out of reach, and its name is free. Until it is purged, it can be restored.",
};
