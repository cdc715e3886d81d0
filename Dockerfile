# tapegrad with NumPy and SciPy, 150 MB at most as it is stored and sent (which CI measures).
#
#     docker build -t tapegrad .
#     docker run --rm tapegrad                                                  the demo
#     docker run --rm -v "$PWD:/work" -w /work tapegrad run script.py           a script of yours
FROM python:3.13-slim AS build
COPY . /source
RUN pip install --no-cache-dir --no-compile --prefix=/install /source

FROM python:3.13-slim
COPY --from=build /install /usr/local
RUN useradd --create-home user
USER user
ENTRYPOINT ["python", "-m", "tapegrad"]
CMD ["demo"]
