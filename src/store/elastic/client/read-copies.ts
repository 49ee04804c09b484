/** The members of a read that matter for the choice of copies. */
export type CopiedRead = {
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly lines?: string | undefined
  readonly isOfNamedCopies?: true
}

/** Path endings of document reads; other requests choose no copies and refuse the parameter. */
const OF_COPIES = /.\/(?:_search|_count|_doc\/[^/]+)$|^\/_mget$/

/** Searches of one request that must see the same copy have the same preference, of any kind. */
const OWN_PREFERENCE = /^(\{.*"preference":)("[^"]*")/

/**
 * Variants of a read that prefer or require copies on certain nodes, to be tried in order. Most reads take
 * any of these nodes, and others if none of them has a copy. Searches that must all see the same copy are
 * tried on each node separately. A read of specific copies is unchanged, and so are requests that choose no
 * copies, such as searches at a point in time.
 *
 * @param nodes ids; if empty, copies on the node that gets the request are preferred
 */
export const onNodes = <R extends CopiedRead>(read: R, nodes: readonly string[]): readonly R[] => {
  const { path, query, lines, isOfNamedCopies } = read
  const preference = nodes.length === 0 ? '_local' : `_prefer_nodes:${nodes.join(',')}`
  if (path === '/_msearch' && lines !== undefined) {
    // Either all searches have a preference, or none.
    if (!OWN_PREFERENCE.test(lines)) return [{ ...read, lines: linesWith(lines, preference) }]
    if (isOfNamedCopies) return [read]
    return [...nodes.map(node => ({ ...read, lines: linesWith(lines, `_only_nodes:${node}`) })), read]
  }
  return [OF_COPIES.test(path) ? { ...read, query: { ...query, preference } } : read]
}

/** Whether an answer says that the only allowed node has no copy. */
export const hasNoCopy = (text: string): boolean => text.includes('no data nodes with criteria [')

/** Each search has two lines, the first of which contains the preference. */
const linesWith = (lines: string, preference: string): string =>
  lines
    .split('\n')
    .map((line, at) => (at % 2 === 0 && line !== '' ? headWith(line, preference) : line))
    .join('\n')

const headWith = (line: string, preference: string): string =>
  OWN_PREFERENCE.test(line)
    ? line.replace(OWN_PREFERENCE, (_, before: string) => `${before}${JSON.stringify(preference)}`)
    : `{"preference":${JSON.stringify(preference)},${line.slice(1)}`
