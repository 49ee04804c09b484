/** A read as far as the choice of copies goes. */
export type CopiedRead = {
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly lines?: string | undefined
  readonly isOfNamedCopies?: true
}

/** What reads of documents end in; other requests choose no copies and refuse the parameter. */
const OF_COPIES = /.\/(?:_search|_count|_doc\/[^/]+)$|^\/_mget$/

/** Searches of one request that must see the same copy have the same preference, of whichever kind. */
const OWN_PREFERENCE = /^(\{.*"preference":)("[^"]*")/

/**
 * The read from copies on certain nodes, as the variants to be tried one after the other. Most reads take any of these
 * nodes, and others if none of them has a copy. What must see one copy throughout is tried on each node by itself; what
 * is asked of certain copies stays.
 * Requests that choose no copies, such as searches at a point in time, stay as they are.
 *
 * @param nodes ids; none: copies on the node that is asked are preferred
 */
export const onNodes = <R extends CopiedRead>(read: R, nodes: readonly string[]): readonly R[] => {
  const { path, query, lines, isOfNamedCopies } = read
  const preference = nodes.length === 0 ? '_local' : `_prefer_nodes:${nodes.join(',')}`
  if (path === '/_msearch' && lines !== undefined) {
    // All of them have a preference, or none.
    if (!OWN_PREFERENCE.test(lines)) return [{ ...read, lines: linesWith(lines, preference) }]
    if (isOfNamedCopies) return [read]
    return [...nodes.map(node => ({ ...read, lines: linesWith(lines, `_only_nodes:${node}`) })), read]
  }
  return [OF_COPIES.test(path) ? { ...read, query: { ...query, preference } } : read]
}

/** Whether an answer says that the only node that was allowed has no copy. */
export const hasNoCopy = (text: string): boolean => text.includes('no data nodes with criteria [')

/** Each search is two lines, and the first says where it looks. */
const linesWith = (lines: string, preference: string): string =>
  lines
    .split('\n')
    .map((line, at) => (at % 2 === 0 && line !== '' ? headWith(line, preference) : line))
    .join('\n')

const headWith = (line: string, preference: string): string =>
  OWN_PREFERENCE.test(line)
    ? line.replace(OWN_PREFERENCE, (_, before: string) => `${before}${JSON.stringify(preference)}`)
    : `{"preference":${JSON.stringify(preference)},${line.slice(1)}`
