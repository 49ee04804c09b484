import type { Text } from '#actions/text.ts'

/** Text of the footer for data from a node. `height`: the node's last irreversible block, if the data are as of it. */
export const ofNode = (height?: number): Text =>
  height === undefined
    ? {
        en: 'From a node; not in an irreversible block when this page was made.',
        zh: '数据来自全节点；生成本页时尚未进入不可逆区块。',
      }
    : {
        en: `From a node, as of irreversible block ${height}.`,
        zh: `数据来自全节点，截至不可逆区块 ${height}。`,
      }

/** The same for a thing of a block, by the node's word for it; undefined: it is stored, and of the height of all pages. */
export const ofNodeBeyond = (
  at: { readonly height: number },
  { status, height }: { readonly status: string; readonly height: number },
): Text | undefined => {
  if (status !== 'IRREVERSIBLE') return ofNode()
  return height > at.height ? ofNode(height) : undefined
}
