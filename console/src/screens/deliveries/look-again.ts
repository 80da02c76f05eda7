/** How often a visible screen asks how deliveries go on: they are not in the log that screens follow. */
const lookAgainMs = 5_000;

/** How it asks, if the person may see the answer. */
export const lookingAgain = (may: boolean | undefined) => ({
  enabled: may === true,
  retry: false,
  refetchInterval: lookAgainMs,
});
