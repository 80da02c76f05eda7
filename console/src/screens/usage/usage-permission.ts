export const usagePermission = "iam.usage.get";
