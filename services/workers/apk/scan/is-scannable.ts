/** Kinds of files that hold text. */
const TEXT =
  /\.(json|xml|properties|js|jsbundle|bundle|html?|txt|pem|key|p8|ya?ml|cfg|conf|config|ini|env|csv|plist|toml|sql|graphql|md)$/i;
const BINARY =
  /\.(png|jpe?g|gif|webp|avif|heic|svgz|ttf|otf|woff2?|mp[34]|m4a|ogg|wav|webm|aac|flac|so|dex|arsc|zip|gz|br|bin|dat|pak|tflite|onnx|db|sqlite|lottie)$/i;

/** Whether a file of the archive is looked through for addresses and secrets; code and resources are looked through elsewhere. */
export function isScannable(name: string): boolean {
  if (TEXT.test(name)) return true;
  return /^(assets|res\/raw)\//.test(name) && !BINARY.test(name);
}
