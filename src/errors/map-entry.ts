/** Returns the path of an entry of a map, as protovalidate writes it: `resource.quantities["cpu_cores"]`. */
export function mapEntry(field: string, key: string): string {
  return `${field}[${JSON.stringify(key)}]`;
}
