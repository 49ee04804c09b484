/** @jsxImportSource @kitajs/html */
import { shortened, visible } from '../format/visible.ts'
import { hrefTo, pathOfNft } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type NftNameProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang'>
  readonly collection: string
  readonly id: string
}

/** The number of an NFT in its collection, which leads to its page. The collection stands beside it, or is the page itself. */
export const NftName = ({ visit, collection, id }: NftNameProps): Html => (
  <a class="name nft" href={hrefTo(visit, pathOfNft(collection, id))}>
    <bdi safe>{`#${shortened(visible(id))}`}</bdi>
  </a>
)
