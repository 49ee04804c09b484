import { Failure } from '#failure/failure.ts'
import type { Migrating } from '#store/port.ts'

export const noMigrating = (name: string): Migrating => {
  const refuse = async (): Promise<never> => {
    throw new Failure('usage', `${name}: an embedded store is not migrated.`, {
      help: 'Load anew into another file with this version, then serve that one.',
    })
  }
  return { plan: refuse, settle: refuse, copy: refuse, beside: refuse, swap: refuse, removeLeftovers: refuse }
}
