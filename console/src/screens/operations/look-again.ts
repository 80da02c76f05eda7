/** How often a visible screen asks how far providers are: claims and progress are not in the log that screens follow. */
export const lookAgainMs = 2_000;
