// Files that are imported as text (`with { type: 'text' }`) or as paths (`with { type: 'file' }`).

declare module '#explorer/asset/*' {
  const textOrPath: string
  // biome-ignore lint/style/noDefaultExport: a file has no other name
  export default textOrPath
}
