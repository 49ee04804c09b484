/**
 * Values by kind and name. A thing with two names, such as the balance of an account in a token, has the second one in
 * `within`, which is '' for all others; it should have few values, since each has a map of its own. A block names most
 * things many times: a lookup by names takes a fraction of the time of building the key and looking that up.
 */
export function namesByKind<Kind extends string, V>(): (kind: Kind, within: string) => Map<string, V> {
  const kinds = new Map<Kind, Map<string, Map<string, V>>>()
  return (kind, within) => {
    let ofKind = kinds.get(kind)
    if (ofKind === undefined) {
      ofKind = new Map()
      kinds.set(kind, ofKind)
    }
    let names = ofKind.get(within)
    if (names === undefined) {
      names = new Map()
      ofKind.set(within, names)
    }
    return names
  }
}
