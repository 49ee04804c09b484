import { shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { Holder } from '#keys/holder.ts'
import type { Store } from '#store/port.ts'
import type { Command, CommandCall } from './command.ts'
import { requireExisting, withStore } from './compose.ts'
import type { ExitCode } from './exit-code.ts'
import { findHolder } from './keys-shown.ts'

/** The call of a command whose argument is the id of a key. */
export type HolderCall = CommandCall & { readonly store: Store; readonly id: string; readonly holder: Holder }

/** Runs a command on the holder with an id. Throws 'not_found' when there is none. */
export const onHolder =
  (work: (call: HolderCall) => Promise<ExitCode>): Command['run'] =>
  call => {
    const [id = ''] = call.words
    return withStore(call.values, call.log, async store =>
      work({ ...call, store, id, holder: await requireHolder(store, id) }),
    )
  }

/** The holder with this id. Throws 'not_found'. */
export async function requireHolder(store: Store, id: string): Promise<Holder> {
  await requireExisting(store)
  const holder = await findHolder(store, id)
  if (holder === undefined)
    throw new Failure('not_found', `There is no key with the id ${shown(id)}.`, {
      help: "'iostlens keys list' prints the ids.",
    })
  return holder
}
