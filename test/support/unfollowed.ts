/** What a commit says of an org that nobody follows. */
export const unfollowed = { is_watched: false, has_webhooks: false, has_event_streams: false } as const;
