// Files that are imported as texts (`with { type: 'text' }`).

declare module '#explorer/asset/*' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: a text has no other name
  export default text
}
