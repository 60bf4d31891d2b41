"""The files that PyInstaller does not see by the imports: the library and the templates."""

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs

binaries = collect_dynamic_libs("libmode")
datas = collect_data_files("libmode", includes=["**/*.html", "**/*.in"])
