/** The media type of SCIM (RFC 7644, 8.1). */
export const mediaType = "application/scim+json";
