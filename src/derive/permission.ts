import type { Group, Permission, PermissionItem } from '#indices/account.ts'

export const permission = (
  name: string,
  threshold: string,
  items: readonly PermissionItem[],
): Permission => ({ name, group_names: [], items, threshold })

export const group = (name: string, items: readonly PermissionItem[]): Group => ({ name, items })

export const withPermission = (all: readonly Permission[], one: Permission): readonly Permission[] =>
  byName([...all.filter(other => other.name !== one.name), one])

export const withGroup = (all: readonly Group[], one: Group): readonly Group[] =>
  byName([...all.filter(other => other.name !== one.name), one])

const byName = <T extends { readonly name: string }>(all: T[]): readonly T[] =>
  all.sort((a, b) => (a.name < b.name ? -1 : 1))
