/** The name of the field for the limit of a kind, as the service names it. */
export const limitField = (kind: string): string => `limits[${JSON.stringify(kind)}]`;
