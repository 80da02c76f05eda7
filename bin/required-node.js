// Which Node.js is needed. Written for any that has modules.
var required = [22, 18];
var version = process.versions.node.split(".").map(Number);

export var requiredNode = required.join(".");

/** Whether this one is older. */
export var isOldNode = version[0] < required[0] || (version[0] === required[0] && version[1] < required[1]);
