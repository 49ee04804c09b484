import type { Scope } from './scope.ts'

/** Version of a system contract by its deployed code; undefined when none was deployed yet. */
export const versionOf = ({ statistics }: Scope, contract: string): string | undefined =>
  statistics.versions.find(([id]) => id === contract)?.[1]

/** Notes the version of a system contract. */
export const noteVersion = ({ statistics }: Scope, contract: string, version: string): void => {
  const others = statistics.versions.filter(([id]) => id !== contract)
  statistics.versions = [...others, [contract, version] as const].sort(([a], [b]) => (a < b ? -1 : 1))
}
