/* A file that is chosen goes along in base64, so that each of its bytes arrives, whatever its encoding. */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const label = document.querySelector("[data-file]");
  if (!label) return;
  const input = label.querySelector("input"), { form } = input;
  label.hidden = false;
  input.addEventListener("change", () => {
    const file = input.files[0], reader = new FileReader();
    form.elements.csv.disabled = Boolean(file);
    form.elements.file.value = "";
    if (!file) return;
    reader.addEventListener("load", () => { form.elements.file.value = reader.result.split(",")[1] ?? ""; });
    reader.readAsDataURL(file);
  });
});
