import { Failure } from '#failure/failure.ts'
import { requireSameDigests } from './compare.ts'
import type { Manifest } from './manifest.ts'

/** Throws 'conflict' for another chain, height or derivation, 'damaged' with the index that differs. */
export const requireSame = (name: string, found: Manifest, manifest: Manifest): void => {
  for (const of of ['chainId', 'genesis', 'derivation', 'height', 'hash'] as const)
    if (found[of] !== manifest[of])
      throw new Failure(
        'conflict',
        `${name}: its ${of} is ${found[of]}, but the manifest says ${manifest[of]}.`,
        {
          help: 'The manifest belongs to another copy.',
        },
      )
  requireSameDigests(name, found.digests, manifest.digests)
}
